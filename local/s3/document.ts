import { type XmlElement, xmlDocument } from "../aws/xml.ts";

const namespace = "http://s3.amazonaws.com/doc/2006-03-01/";

/** An XML answer of S3; error documents have no namespace. */
export function s3Document(root: string, content: readonly XmlElement[]): string {
  return xmlDocument(root, root === "Error" ? undefined : namespace, content);
}
