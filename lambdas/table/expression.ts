import type { TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import type { Condition, Requirement, Update, Write } from "./entity.ts";

interface Expression {
  names: Record<string, string>;
  values: Record<string, unknown>;
}

/** `map.<key>` addresses one key of a map attribute; each part gets a placeholder of its own. */
function nameOf(expression: Expression, attribute: string): string {
  return attribute
    .split(".")
    .map((part) => {
      const placeholder = `#${part.replace(/\W/g, "_")}`;
      expression.names[placeholder] = part;
      return placeholder;
    })
    .join(".");
}

function placeholderOf(expression: Expression, value: unknown): string {
  const placeholder = `:v${Object.keys(expression.values).length}`;
  expression.values[placeholder] = value;
  return placeholder;
}

function requirementText(expression: Expression, attribute: string, requirement: Requirement): string {
  const name = nameOf(expression, attribute);
  switch (requirement.is) {
    case "absent":
      return `attribute_not_exists(${name})`;
    case "present":
      return `attribute_exists(${name})`;
    case "oneOf":
      return `${name} IN (${requirement.values.map((value) => placeholderOf(expression, value)).join(", ")})`;
    case "below":
      return `${name} < ${placeholderOf(expression, requirement.value)}`;
    case "above":
      return `${name} > ${placeholderOf(expression, requirement.value)}`;
    case "absentOrBelow":
      return `(attribute_not_exists(${name}) OR ${name} < ${placeholderOf(expression, requirement.value)})`;
    case "absentOrAbove":
      return `(attribute_not_exists(${name}) OR ${name} > ${placeholderOf(expression, requirement.value)})`;
    case "absentOrOneOf":
      return `(attribute_not_exists(${name}) OR ${name} IN (${requirement.values.map((value) => placeholderOf(expression, value)).join(", ")}))`;
    case "newRowOrBelow":
      return `(attribute_not_exists(${nameOf(expression, "pk")}) OR ${name} < ${placeholderOf(expression, requirement.value)})`;
    case "absentOrContains":
      return `(attribute_not_exists(${name}) OR contains(${name}, ${placeholderOf(expression, requirement.value)}))`;
  }
}

function conditionText(expression: Expression, condition: Condition): string {
  return Object.entries(condition)
    .map(([attribute, requirement]) =>
      typeof requirement === "object"
        ? requirementText(expression, attribute, requirement)
        : `${nameOf(expression, attribute)} = ${placeholderOf(expression, requirement)}`,
    )
    .join(" AND ");
}

function updateText(expression: Expression, write: Update<unknown>): string {
  const set = Object.entries(write.set ?? {}).filter(([, value]) => value !== undefined);
  const clauses = [
    set.length > 0 &&
      `SET ${set.map(([attribute, value]) => `${nameOf(expression, attribute)} = ${placeholderOf(expression, value)}`).join(", ")}`,
    write.remove?.length && `REMOVE ${write.remove.map((attribute) => nameOf(expression, attribute)).join(", ")}`,
    write.add &&
      `ADD ${Object.entries(write.add)
        .map(([attribute, value]) => `${nameOf(expression, attribute)} ${placeholderOf(expression, value)}`)
        .join(", ")}`,
  ];
  return clauses.filter(Boolean).join(" ");
}

type TransactItem = NonNullable<TransactWriteCommandInput["TransactItems"]>[number];

/** The condition of a write, and all names and values; `expression` already contains those of the update. */
function commonOf(tableName: string, write: Write, expression: Expression) {
  const condition = write.when ? conditionText(expression, write.when) : undefined;
  const { names, values } = expression;
  return {
    TableName: tableName,
    ConditionExpression: condition,
    ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  };
}

/** An update in the form of UpdateItem. */
export function updateOf(tableName: string, update: Update<unknown>) {
  const expression: Expression = { names: {}, values: {} };
  const UpdateExpression = updateText(expression, update);
  return { ...commonOf(tableName, update, expression), Key: { ...update.key }, UpdateExpression };
}

/** A write as one element of TransactWriteItems, with the old row returned when its condition fails. */
export function transactItem(tableName: string, write: Write): TransactItem {
  const returned = write.when && { ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const };
  if (write.kind === "update") return { Update: { ...updateOf(tableName, write), ...returned } };
  const common = { ...commonOf(tableName, write, { names: {}, values: {} }), ...returned };
  const Key = { ...write.key };
  switch (write.kind) {
    case "put":
      return { Put: { ...common, Item: { ...write.item, ...write.key } } };
    case "delete":
      return { Delete: { ...common, Key } };
    case "check":
      return { ConditionCheck: { ...common, Key } };
  }
}
