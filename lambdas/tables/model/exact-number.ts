/** A longer number counts as rounded: JavaScript never writes a number with so many digits. */
export const numberLengthMax = 1_100;

const numberPattern = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/;

/** A decimal number in normalized form: `1.50`, `15e-1` are both `15 at -1`. */
function decimalOf(text: string): string | undefined {
  const [, sign, whole = "", fraction = "", exponent = "0"] = numberPattern.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const digits = (whole + fraction).replace(/^0+/, "");
  const kept = digits.replace(/0+$/, "");
  if (kept === "") return "0";
  return `${sign}${kept} at ${Number(exponent) - fraction.length + digits.length - kept.length}`;
}

/** Whether a number of a JSON text is still the same when JavaScript has read it and writes it again. */
export function isExactNumber(text: string): boolean {
  if (text.length > numberLengthMax) return false;
  const written = decimalOf(text);
  return written !== undefined && written === decimalOf(String(Number(text)));
}
