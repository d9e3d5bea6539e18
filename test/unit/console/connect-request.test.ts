import { describe, expect, test } from "vitest";
import { answerAddress, readConnectRequest } from "../../../console/connect-request.ts";

const challenge = "A".repeat(43);
const ask = (more: Record<string, string>) =>
  readConnectRequest(`?${new URLSearchParams({ tool: "Slipway CLI", challenge, ...more })}`);

describe("a tool's request to be connected", () => {
  test("names the tool, the access and where it waits", () => {
    const request = ask({
      access: "deploy",
      redirect: "http://127.0.0.1:5123/done",
      state: "s1",
      organization: "org_1",
    });
    expect(request).toMatchObject({ tool: "Slipway CLI", access: "deploy", state: "s1", organizationIds: ["org_1"] });
    expect(request?.redirect?.href).toBe("http://127.0.0.1:5123/done");
    expect(ask({})).toMatchObject({ access: "all", organizationIds: [], redirect: undefined, state: null });
  });

  test.each([
    "https://127.0.0.1:5123/",
    "http://example.com:80/",
    "http://127.0.0.1.example.com:1/",
    "http://user@127.0.0.1:1/",
    "http://localhost@example.com:1/",
    "javascript:alert(1)",
    "http://127.0.0.1/",
    "//localhost:1/",
    "",
  ])("never sends a code to %j", (redirect) => {
    expect(ask({ redirect })?.redirect).toBe(undefined);
  });

  test.each(["http://127.0.0.1:1/", "http://localhost:65535/x?y=1", "http://[::1]:9/"])(
    "sends a code to %s",
    (redirect) => {
      expect(ask({ redirect })?.redirect?.href).toBe(redirect);
    },
  );

  test.each<Record<string, string>>([
    { challenge: "short" },
    { access: "everything" },
    { tool: " " },
    { tool: "x".repeat(65) },
  ])("is none with %j", (broken) => {
    expect(ask(broken)).toBe(undefined);
  });

  test("is answered in the query, beside what the tool had there", () => {
    const redirect = new URL("http://localhost:9/x?y=1");
    expect(answerAddress(redirect, "a b", { code: "c/1" })).toBe("http://localhost:9/x?y=1&code=c%2F1&state=a+b");
    expect(answerAddress(redirect, null, { error: "access_denied" })).toBe(
      "http://localhost:9/x?y=1&error=access_denied",
    );
  });
});
