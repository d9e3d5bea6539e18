import { expect, test } from "vitest";
import { previewOf } from "../../../console/file-preview.ts";

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
