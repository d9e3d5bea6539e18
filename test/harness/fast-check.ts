import fc from "fast-check";
import { propertySeed } from "./property-seed.ts";

// Without a seed, fast-check takes the time, and a run in CI could not be repeated.
fc.configureGlobal({ seed: propertySeed() });

export { fc };

/** Texts of any code points, including lone surrogates. fc.string's unit "binary" does the same, but takes a second to set up. */
export function anyText(options: { maxLength?: number } = {}): fc.Arbitrary<string> {
  const points = fc.array(fc.nat(0x10ffff), options).map((points) => String.fromCodePoint(...points));
  return fc.oneof({ weight: 9, arbitrary: points }, fc.constantFrom("__proto__", "constructor", "toString", "a", "1"));
}
