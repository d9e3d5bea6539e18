import { describe } from "vitest";
import { followsItsObject } from "./follows-its-object.ts";

describe("in a bucket without versions, as locally", () => followsItsObject(false));
