import * as pep440 from "@renovatebot/pep440";

/** The versions that a declaration allows: minor versions of Python 3, or only Python 2. */
export type AllowedPython = { kind: "lines"; lines: number[] } | { kind: "python2" };

const MINORS = Array.from({ length: 40 }, (_, minor) => minor);
const PATCHES = Array.from({ length: 41 }, (_, patch) => patch);

/** The release lines that a version, PEP 440 specifier or poetry constraint allows; undefined if it cannot be read or allows none. */
export function allowedPython(declared: string): AllowedPython | undefined {
  const text = declared.trim();
  if (text === "" || text.length > 256) return undefined;
  const plain = /^(?:(?:c?python)[-@ ]?)?v?(\d+)(?:\.(\d+))?(?:\.\d+)?(?:\.\*|\.x|-dev|t|(?:a|b|rc)\d+)*$/i.exec(text);
  if (plain !== null) return plainVersion(Number(plain[1]), plain[2]);
  const alternatives = text.split(/\s*\|\|?\s*/).map(specifierOf);
  const readable = alternatives.filter((specifier) => specifier !== undefined);
  if (readable.length < alternatives.length) return undefined;
  const allows = (version: string) =>
    readable.some((specifier) => specifier === "" || pep440.satisfies(version, specifier));
  const lines = MINORS.filter((minor) => PATCHES.some((patch) => allows(`3.${minor}.${patch}`)));
  if (lines.length > 0) return { kind: "lines", lines };
  const second = PATCHES.some((patch) => allows(`2.7.${patch}`)) || allows("2.6.0");
  return second ? { kind: "python2" } : undefined;
}

function plainVersion(major: number, minor: string | undefined): AllowedPython | undefined {
  if (major === 2) return { kind: "python2" };
  if (major !== 3) return undefined;
  return { kind: "lines", lines: minor === undefined ? MINORS : [Number(minor)] };
}

/** Converts a constraint to PEP 440 syntax; undefined if it is invalid. */
function specifierOf(text: string): string | undefined {
  if (/^[*x]?$/.test(text)) return "";
  const parts = text.replace(/([<>=!~^]+)\s+/g, "$1").split(/\s*,\s*|\s+(?=[<>=!~^\d])/);
  const clauses = parts.filter((part) => part !== "").map(clauseOf);
  const specifier = clauses.join(",");
  return clauses.includes(undefined) || !pep440.validRange(specifier) ? undefined : specifier;
}

function clauseOf(part: string): string | undefined {
  const caret = /^\^v?(\d+)((?:\.\d+)*)$/.exec(part);
  if (caret !== null) return `>=${part.slice(1).replace(/^v/, "")},<${Number(caret[1]) + 1}`;
  const tilde = /^~v?(\d+)(?:\.(\d+))?((?:\.\d+)*)$/.exec(part);
  if (tilde !== null) {
    const [, major = "0", minor] = tilde;
    return `>=${part.slice(1)},<${minor === undefined ? Number(major) + 1 : `${major}.${Number(minor) + 1}`}`;
  }
  if (/^\d+(\.\d+)*(\.\*)?$/.test(part))
    return /^\d+\.\d+\.\d+$/.test(part) ? `==${part}` : `==${part.replace(/\.\*$/, "")}.*`;
  if (/^(<|<=|>|>=|!=|~=|===?)v?\d[\w.]*(\.\*)?$/.test(part)) return part;
  return /^=\d/.test(part) ? `=${part}` : undefined;
}
