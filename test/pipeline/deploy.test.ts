import { describe } from "vitest";
import { startRunning } from "../harness/service.ts";
import { deploymentTests } from "./lanes/deployment.ts";

describe("a deployment", () => deploymentTests(() => startRunning()));
