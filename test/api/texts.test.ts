import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { type Running, startRunning } from "../harness/service.ts";

let running: Running;
beforeAll(async () => {
  running = await startRunning();
});
afterAll(() => running.stop());

describe("a text that cannot be stored is refused and named", () => {
  const storage = () => `/organizations/${running.seed.organizationId}/storages/${running.seed.storageId}`;
  const lone = "\\ud800";
  test.each([
    ["builds", `{"title":"a${lone}"}`, "title"],
    ["builds", `{"description":"${lone}b"}`, "description"],
    ["builds", '{"title":"a\\u0000b"}', "title"],
    ["credentials", `{"description":"${lone}"}`, "description"],
    ["environments", `{"name":"A","value":"${lone}"}`, "value"],
    ["files", `{"files":[{"name":"${lone}","mime":"a/b"}]}`, "files.0.name"],
  ])("%s %s", async (list, text, path) => {
    const base = list === "files" ? storage() : running.project;
    const { status, body } = await running.call("POST", `${base}/${list}`, { text });
    expect(status).toBe(400);
    expect(body.issues).toEqual([{ path, message: expect.any(String) }]);
  });
});

describe("an error", () => {
  test.each([
    "application/problem+json",
    "Application/Problem+JSON",
    "application/json;q=0.5, application/problem+json;q=0.9",
  ])("is served as RFC 9457 to %s", async (accept) => {
    const { status, headers, body } = await running.call("GET", "/nothing", { headers: { accept } });
    expect(headers.get("content-type")).toBe("application/problem+json");
    expect({ status: body.status, title: body.title }).toEqual({ status, title: "Not Found" });
    expect(body.requestId).toBe(headers.get("x-request-id"));
  });

  it.each(["*/*", "application/json", "application/problem+json;q=0", "application/problem+jsonx"])(
    "has the service's own shape for %s",
    async (accept) => {
      const { headers, body } = await running.call("GET", "/nothing", { headers: { accept } });
      expect(headers.get("content-type")).toBe("application/json");
      expect(body.status).toBe("Not Found");
    },
  );
});
