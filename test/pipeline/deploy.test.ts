import { describe } from "vitest";
import { startRunning } from "../harness/service.ts";
import { deploymentTests } from "./backends/deployment.ts";

describe("a deployment", () => deploymentTests(() => startRunning()));
