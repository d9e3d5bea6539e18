import * as z from "zod";
import type { Arns } from "../arns.ts";
import { nameOf } from "../arns.ts";

const texts = z.array(z.string()).default([]);
const asked = z.looseObject({
  services: texts,
  tasks: texts,
  serviceDeploymentArns: texts,
  serviceRevisionArns: texts,
});

const missing = (arns: string[]) => arns.map((arn) => ({ arn, reason: "MISSING" }));

/** The reads of ECS that are eventually consistent, with their answers before the thing existed. */
export function nothingFound(arns: Arns): Record<string, (input: unknown) => object> {
  return {
    DescribeServices: (input) => ({
      services: [],
      failures: missing(asked.parse(input).services.map((service) => arns.service(nameOf(service)))),
    }),
    DescribeServiceDeployments: (input) => ({
      serviceDeployments: [],
      failures: missing(asked.parse(input).serviceDeploymentArns),
    }),
    DescribeServiceRevisions: (input) => ({
      serviceRevisions: [],
      failures: missing(asked.parse(input).serviceRevisionArns),
    }),
    DescribeTasks: (input) => ({
      tasks: [],
      failures: missing(asked.parse(input).tasks.map((task) => arns.task(nameOf(task)))),
    }),
    ListServiceDeployments: () => ({ serviceDeployments: [] }),
    ListTasks: () => ({ taskArns: [] }),
  };
}
