import { describe } from "vitest";
import { startRunning } from "../harness/service.ts";
import { ownIdentityTests } from "./lanes/own-identity.ts";

describe("the identity of an app", () => ownIdentityTests(() => startRunning()));
