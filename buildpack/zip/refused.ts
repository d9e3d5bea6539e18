const again = "Create the zip again from the folder and upload that.";
const another = "Create it with another program, for example `zip -r app.zip .`, and upload that.";
const tampered = "If you did not make this archive yourself, do not trust it.";
const smaller =
  "Leave out what the build can make or download itself (node_modules, caches, media) and upload it again.";

/** Each rule, with what is wrong and what to do. */
const rules = {
  not_a_zip: ["is not a zip archive", "Upload a .zip file."],
  truncated: ["is incomplete: its end is missing", "Upload it again; if that fails, create the zip again."],
  trailing_data: ["has bytes after its end", again],
  ambiguous_end: ["has more than one end, so programs disagree about its contents", another],
  multi_disk: ["is one part of a split archive", "Create it as one file and upload that."],
  bad_directory: ["has an inconsistent list of contents", again],
  too_large: ["is too large", smaller],
  too_many_entries: ["holds too many files and folders", smaller],
  unpacked_too_large: ["is too large once unpacked", smaller],
  bomb: ["unpacks to far more data than its packed size suggests", smaller],
  bad_name: ["has a name that cannot be used", "Rename it and create the zip again."],
  name_too_long: ["has a name that is too long", "Shorten it and create the zip again."],
  absolute_path: [
    "is stored under an absolute path",
    "Create the zip from inside the folder, with relative names only.",
  ],
  path_escape: ["points outside of the archive with `..`", `${tampered} ${again}`],
  duplicate_name: [
    "occurs twice (names that differ only in upper and lower case count as the same)",
    "Rename or remove one of the two and create the zip again.",
  ],
  file_as_folder: ["is both a file and a folder", "Rename one of the two and create the zip again."],
  link_as_folder: ["is stored in a folder that is a link", `${tampered} ${again}`],
  overlap: ["overlaps with another part of the archive", `${tampered} ${again}`],
  gap: ["contains bytes that belong to no file", another],
  encrypted: ["is encrypted", "Create the zip without a password and upload that."],
  unsupported_method: ["is compressed with a method that is not supported", `Use the method deflate. ${another}`],
  unsupported_flags: ["has unknown flags", another],
  special_file: ["is neither a file, a folder nor a link", "Remove it and create the zip again."],
  kind_mismatch: ["is marked both as a file and as something else", another],
  header_mismatch: ["is described differently in two places of the archive", `${tampered} ${again}`],
  bad_extra_field: ["has extra fields that contradict its other data", another],
  bad_descriptor: ["is followed by sizes or a checksum that do not match it", again],
  size_mismatch: ["does not have the size that the archive states", again],
  crc_mismatch: ["does not have the checksum that the archive states", again],
  bad_data: ["is damaged: it cannot be unpacked", again],
  link_escape: [
    "is a link to a place outside the archive",
    "Remove the link, or put what it points to into the archive.",
  ],
  link_loop: [
    "is a link that leads back to itself, or through too many links",
    "Remove the link and create the zip again.",
  ],
  bad_link: ["is a link whose target cannot be used", "Remove the link, or replace it with a simple relative one."],
  file_too_large: ["is too large to be read at once", "Make it smaller, or remove it."],
} as const satisfies Record<string, readonly [string, string]>;

/** The stable code of the broken rule. */
export type ArchiveRule = keyof typeof rules;

const shownMax = 200;
const hidden = /[\p{C}\p{Zl}\p{Zp}"\\]/gu;

/** A name from an untrusted archive, safe for a log line or a message: escaped, quoted, at most about 200 characters. */
export function quoteName(name: string): string {
  const escaped = (character: string) =>
    character === '"' || character === "\\" ? `\\${character}` : `\\u{${character.codePointAt(0)?.toString(16)}}`;
  const shown = name.length > shownMax ? `${name.slice(0, 120)}…${name.slice(-60)}` : name;
  const safe = shown.replace(hidden, escaped);
  return safe.length > shownMax ? `"${safe.slice(0, shownMax)}…"` : `"${safe}"`;
}

/** The archive breaks a rule (docs/api.md, Archives); `message` is for the user; `entry` is the raw name, which must not be shown unescaped. */
export class ArchiveRefused extends Error {
  override readonly name = "ArchiveRefused";
  readonly rule: ArchiveRule;
  readonly entry: string | undefined;

  constructor(rule: ArchiveRule, entry?: string, detail?: string) {
    const [problem, advice] = rules[rule];
    const subject = entry === undefined ? "The archive" : `${quoteName(entry)} in the archive`;
    super(`${subject} ${problem}${detail === undefined ? "" : `: ${detail}`} (rule ${rule}). ${advice}`);
    this.rule = rule;
    this.entry = entry;
  }
}
