import { describe } from "vitest";
import { followsItsObject } from "./follows-its-object.ts";

describe("in a bucket that keeps versions, as in AWS", () => followsItsObject(true));
