import { describe } from "vitest";
import { startRunning } from "../harness/service.ts";
import { loopbackOnlyTests } from "./lanes/loopback-only.ts";

describe("a version that listens only on the loopback address", () =>
  loopbackOnlyTests((options) => startRunning(undefined, options)));
