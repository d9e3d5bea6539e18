import type { TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import type { Condition, Requirement, Write } from "./entity.ts";

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

function updateText(expression: Expression, write: Extract<Write, { kind: "update" }>): string {
  const set = Object.entries(write.set).filter(([, value]) => value !== undefined);
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

/** A write as one element of TransactWriteItems, with the old row returned when its condition fails. */
export function transactItem(tableName: string, write: Write): TransactItem {
  const expression: Expression = { names: {}, values: {} };
  const update = write.kind === "update" ? updateText(expression, write) : "";
  const condition = write.when ? conditionText(expression, write.when) : undefined;
  const common = {
    TableName: tableName,
    ConditionExpression: condition,
    ...(condition && { ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const }),
    ...(Object.keys(expression.names).length > 0 && { ExpressionAttributeNames: expression.names }),
    ...(Object.keys(expression.values).length > 0 && { ExpressionAttributeValues: expression.values }),
  };
  const Key = { ...write.key };
  switch (write.kind) {
    case "put":
      return { Put: { ...common, Item: { ...write.item, ...write.key } } };
    case "update":
      return { Update: { ...common, Key, UpdateExpression: update } };
    case "delete":
      return { Delete: { ...common, Key } };
    case "check":
      return { ConditionCheck: { ...common, Key } };
  }
}
