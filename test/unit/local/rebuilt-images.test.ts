import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ImageMissing, resolveImage } from "../../../local/codebuild/image.ts";
import type { TaskDefinitionRecord } from "../../../local/ecs/records.ts";
import { createRebuiltImages } from "../../../local/rebuilt-images.ts";

const definition: TaskDefinitionRecord = {
  taskDefinitionArn: "arn",
  family: "app",
  revision: 1,
  status: "ACTIVE",
  registeredAt: 0,
  containerDefinitions: [{ name: "app", image: "app@sha256:1" }],
};

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "slipway-rebuilt-"));
});
afterEach(() => rmSync(home, { recursive: true }));

test("an image is built again only if it is missing, not after another error", async () => {
  const images = createRebuiltImages(home, () => undefined);
  const asked: string[] = [];
  const find = async (reference: string) => {
    asked.push(reference);
    throw new Error("The disk is full");
  };
  await expect(images.find("app@sha256:1", definition, find)).rejects.toThrow("The disk is full");
  expect(asked).toEqual(["app@sha256:1"]);
});

test("an image that was built again is found by the reference of the first one; an error of it is not a missing image", async () => {
  writeFileSync(join(home, "rebuilt-images.json"), JSON.stringify({ "app@sha256:1": "app@sha256:2" }));
  const images = createRebuiltImages(home, () => undefined);
  const find = async (reference: string) => {
    if (reference === "app@sha256:1") throw new ImageMissing();
    return reference;
  };
  expect(await images.find("app@sha256:1", definition, find)).toBe("app@sha256:2");
  const failing = async (reference: string) => {
    if (reference === "app@sha256:1") throw new ImageMissing();
    throw new Error("The engine is away");
  };
  await expect(images.find("app@sha256:1", definition, failing)).rejects.toThrow("The engine is away");
});

test("an image that is a folder is missing without its file, but not if the file cannot be read", async () => {
  await expect(resolveImage(home, "app@sha256:0123456789abcdef")).rejects.toThrow(ImageMissing);
  writeFileSync(join(home, "0123456789ab"), "a file in place of the folder");
  const error = await resolveImage(home, "app@sha256:0123456789abcdef").catch((one: unknown) => one);
  expect(error).toMatchObject({ code: "ENOTDIR" });
});
