import { expect, test } from "vitest";
import { previewOf, sizeText } from "../../../console/file-preview.ts";

test.each([
  ["a.png", "image/png", 10, "image"],
  ["a.svg", "image/svg+xml; charset=utf-8", 10, "image"],
  ["a.tiff", "image/tiff", 10, "none"],
  ["a.png", "image/png", 21 * 1024 * 1024, "too_large"],
  ["a", "text/plain;charset=utf-8", 10, "text"],
  ["a.html", "text/html", 10, "text"],
  ["a", "application/ld+json", 10, "text"],
  ["notes.md", "application/octet-stream", 10, "text"],
  ["notes.bin", "application/octet-stream", 10, "none"],
  ["a.txt", "text/plain", 513 * 1024, "too_large"],
  ["a.pdf", "application/pdf", 10, "none"],
])("%s of type %s with %i bytes: %s", (name, mime, size, expected) => {
  expect(previewOf({ name, mime, size })).toBe(expected);
});

test.each([
  [0, "0 bytes"],
  [1, "1 byte"],
  [1023, "1023 bytes"],
  [1536, "1.5 KB"],
  [1024 * 1024 - 1, "1 MB"],
  [150 * 1024 * 1024, "150 MB"],
  [3 * 1024 ** 4, "3 TB"],
])("%i bytes are %s", (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});
