import { expect, test } from "vitest";
import { projectOf, serviceName } from "../../../../lambdas/aws/app-names.ts";
import { newId } from "../../../../lambdas/table/ids.ts";

test("a service's name is a label of a host name, and tells its project", () => {
  const projectId = newId("prj", new Date());
  expect(serviceName(projectId)).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/);
  expect(projectOf(serviceName(projectId))).toBe(projectId);
});

test.each(["", "app-", "app-prj_01jdqz5yqz0000000000000000", "app-prj-01jdqz5yqz0000000000000000-x", "web"])(
  "the service %j is no project's",
  (name) => {
    expect(projectOf(name)).toBeUndefined();
  },
);
