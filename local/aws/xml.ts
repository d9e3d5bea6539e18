import { XMLParser, XMLValidator } from "fast-xml-parser";

/** An element's text, or its children in order; one name may occur several times. */
export type XmlContent = string | number | boolean | readonly XmlElement[];
export type XmlElement = readonly [name: string, content: XmlContent];

/** Keys may hold any character; what XML cannot carry raw is written as a character reference, as S3 does. */
function escapeText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly those must be escaped
  return text.replace(/[&<>"\u0000-\u001f\u007f]/g, (c) => `&#${c.charCodeAt(0)};`);
}

function render([name, content]: XmlElement): string {
  const inner = Array.isArray(content) ? content.map(render).join("") : escapeText(String(content));
  return `<${name}>${inner}</${name}>`;
}

/** A whole document; without a namespace for S3's errors. */
export function xmlDocument(root: string, namespace: string | undefined, content: readonly XmlElement[]): string {
  const opening = namespace === undefined ? root : `${root} xmlns="${namespace}"`;
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

/** A text with its references resolved; undefined when one of them means nothing. The parser would keep such a one as text. */
function decodeText(text: string): string | undefined {
  let isSound = true;
  const decoded = text.replace(/&([^;&]{0,10});?/g, (_, name: string) => {
    const character = decodeReference(name);
    if (character === undefined) isSound = false;
    return character ?? "";
  });
  return isSound ? decoded : undefined;
}

const parser = new XMLParser({
  ignoreAttributes: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  processEntities: false,
  parseTagValue: false,
  trimValues: false,
  isArray: () => true,
});

/** The elements of a document below its root, by name; a leaf is its text. Undefined for anything but well-formed XML without a DTD. */
export function parseXml(xml: string, root: string): XmlNode | undefined {
  if (/<!(?!--)/.test(xml) || XMLValidator.validate(xml) !== true) return undefined;
  try {
    const document: unknown = parser.parse(xml);
    return isNode(document) ? children(document, root)[0] : undefined;
  } catch {
    // Nested deeper than the parser follows.
    return undefined;
  }
}

export type XmlNode = { readonly [name: string]: unknown };
const isNode = (value: unknown): value is XmlNode => typeof value === "object" && value !== null;

/** The child elements of that name; a leaf has none of its own. */
export function children(node: XmlNode, name: string): XmlNode[] {
  const found = Object.hasOwn(node, name) ? node[name] : undefined;
  return Array.isArray(found) ? found.map((child) => (isNode(child) ? child : { "#text": child })) : [];
}

/** The text of the first child of that name; undefined when there is none, or when a reference in it means nothing. */
export function childText(node: XmlNode, name: string): string | undefined {
  const child = children(node, name)[0];
  if (!child) return undefined;
  const text = child["#text"];
  return decodeText(typeof text === "string" ? text : Array.isArray(text) ? text.join("") : "");
}
