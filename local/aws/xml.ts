import { XMLParser, XMLValidator } from "fast-xml-parser";

/** The text of an element, or its children in order; names may repeat. */
export type XmlContent = string | number | boolean | readonly XmlElement[];
export type XmlElement = readonly [name: string, content: XmlContent];

/** Escapes a text. Keys may contain any character; as in S3, special ones become character references. */
function escapeText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly those must be escaped
  return text.replace(/[&<>"\u0000-\u001f\u007f]/g, (c) => `&#${c.charCodeAt(0)};`);
}

function render([name, content]: XmlElement): string {
  const inner = Array.isArray(content) ? content.map(render).join("") : escapeText(String(content));
  return `<${name}>${inner}</${name}>`;
}

/** An XML document; errors of S3 have no namespace. */
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

/** Resolves the references in a text; undefined if one is invalid (the parser would keep it as text). */
function decodeText(text: string): string | undefined {
  let isValid = true;
  const decoded = text.replace(/&([^;&]{0,10});?/g, (_, name: string) => {
    const character = decodeReference(name);
    if (character === undefined) isValid = false;
    return character ?? "";
  });
  return isValid ? decoded : undefined;
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

/** Parses a document and returns the elements of its root by name. Undefined if the XML is not well-formed or has a DTD. */
export function parseXml(xml: string, root: string): XmlNode | undefined {
  if (/<!(?!--)/.test(xml) || XMLValidator.validate(xml) !== true) return undefined;
  try {
    const document: unknown = parser.parse(xml);
    return isNode(document) ? children(document, root)[0] : undefined;
  } catch {
    // The document is nested too deeply for the parser.
    return undefined;
  }
}

export type XmlNode = { readonly [name: string]: unknown };
const isNode = (value: unknown): value is XmlNode => typeof value === "object" && value !== null;

/** The child elements with this name. */
export function children(node: XmlNode, name: string): XmlNode[] {
  const found = Object.hasOwn(node, name) ? node[name] : undefined;
  return Array.isArray(found) ? found.map((child) => (isNode(child) ? child : { "#text": child })) : [];
}

/** The text of the first child with this name; undefined if there is none or a reference in it is invalid. */
export function childText(node: XmlNode, name: string): string | undefined {
  const child = children(node, name)[0];
  if (!child) return undefined;
  const text = child["#text"];
  return decodeText(typeof text === "string" ? text : Array.isArray(text) ? text.join("") : "");
}
