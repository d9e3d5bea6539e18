import fc from "fast-check";
import { propertySeed } from "./property-seed.ts";

// Without a seed, fast-check takes the time, and a run in CI could not be repeated.
fc.configureGlobal({ seed: propertySeed() });

export { fc };
