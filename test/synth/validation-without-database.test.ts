import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { slipwayApp } from "./assembly.ts";

it("CDK's own validation passes without a database too, its findings being errors", () => {
  const { app } = slipwayApp({ database: "none" }, { validate: true });
  expect(app.node.tryGetContext("@aws-cdk/core:validateAgainstDefaultRules")).toBe(true);
  const assembly = app.synth();
  const report = JSON.parse(readFileSync(join(assembly.directory, "validation-report.json"), "utf8"));
  expect(report.pluginReports).toEqual([]);
});
