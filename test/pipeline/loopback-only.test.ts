import { describe } from "vitest";
import { startRunning } from "../harness/service.ts";
import { loopbackOnlyTests } from "./lanes/loopback-only.ts";

// With the time-out of production, so that it is known what ended the wait.
describe("a version that listens only on the loopback address", () => loopbackOnlyTests(() => startRunning()));
