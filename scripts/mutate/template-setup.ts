import { writeFileSync } from "node:fs";
import { Template } from "aws-cdk-lib/assertions";
import { without } from "./definition-mutants.ts";

/** Before each file of tests of the template: takes one part out of every template that they synthesize. */
const { MUTATE_PATH, MUTATE_TEMPLATE } = process.env;
const synthesized = Template.prototype.toJSON;

Template.prototype.toJSON = function () {
  const template = synthesized.call(this);
  if (MUTATE_TEMPLATE) writeFileSync(MUTATE_TEMPLATE, JSON.stringify(template));
  return MUTATE_PATH ? Object(without(template, JSON.parse(MUTATE_PATH))) : template;
};
