const mask = "[masked]";

/** Shorter values are too common to be masked without making a log unreadable. */
const maskedLengthMin = 6;

const secretShapes = [
  /\bsl[kspt]_[0-9a-z]{40,}\b/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\bAIza[0-9A-Za-z_-]{35}\b/g,
  /\bgh[pousr]_[0-9A-Za-z]{36,}\b/g,
  /(?<=:\/\/[^\s:@/]{1,100}:)[^\s@/]{3,200}(?=@)/g,
  /(?<=[?&]X-Amz-(?:Signature|Security-Token|Credential)=)[^&\s]+/g,
];

/** A function that hides the values of a project's variables, line by line, and whatever has a secret's shape. */
export function masker(values: readonly string[]): (line: string) => string {
  const parts = values
    .flatMap((value) => [value, ...value.split("\n")])
    .map((part) => part.trim())
    .filter((part) => part.length >= maskedLengthMin && !/^(?:true|false|production|development|\d{1,8})$/.test(part))
    .sort((one, other) => other.length - one.length);
  const hidden = [...new Set(parts)];
  return (line) => {
    let text = line;
    for (const part of hidden) text = text.replaceAll(part, mask);
    for (const shape of secretShapes) text = text.replace(shape, mask);
    return text;
  };
}
