/** An element's text, or its children in order; one name may occur several times. */
export type XmlContent = string | number | boolean | readonly XmlElement[];
export type XmlElement = readonly [name: string, content: XmlContent];

const namespace = "http://s3.amazonaws.com/doc/2006-03-01/";

/** Keys may hold any character; what XML cannot carry raw travels as a character reference, as from S3. */
function escapeText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly those must be escaped
  return text.replace(/[&<>"\u0000-\u001f\u007f]/g, (c) => `&#${c.charCodeAt(0)};`);
}

function render([name, content]: XmlElement): string {
  const inner = Array.isArray(content) ? content.map(render).join("") : escapeText(String(content));
  return `<${name}>${inner}</${name}>`;
}

/** An S3 answer; error documents carry no namespace. */
export function xmlDocument(root: string, content: readonly XmlElement[]): string {
  const opening = root === "Error" ? root : `${root} xmlns="${namespace}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${opening}>${content.map(render).join("")}</${root}>`;
}

const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function decodeReference(name: string): string | undefined {
  const number = /^#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}))$/.exec(name);
  if (!number) return entities[name];
  const code = number[1] === undefined ? Number(number[2]) : Number.parseInt(number[1], 16);
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  return code > 0x10ffff || isSurrogate ? undefined : String.fromCodePoint(code);
}

/** The text of an element with its references resolved; undefined when one of them means nothing. */
export function decodeText(text: string): string | undefined {
  let isSound = true;
  const decoded = text.replace(/&([^;&]{0,10});?/g, (_, name: string) => {
    const character = decodeReference(name);
    if (character === undefined) isSound = false;
    return character ?? "";
  });
  return isSound ? decoded : undefined;
}
