import type { OrganizationReply } from "../../api/organizations.ts";
import type { TokenAccess } from "../../api/route.ts";
import { accesses } from "../connect-request.ts";
import { UserText } from "./user-text.tsx";

const accessTexts: Readonly<Record<TokenAccess, readonly [name: string, about: string]>> = {
  read: ["Read", "Look at everything, change nothing."],
  deploy: ["Deploy", "Read, and create, cancel, rebuild and redeploy builds."],
  all: ["Everything", "All that you may do yourself."],
};

export const accessName = (access: TokenAccess): string => accessTexts[access][0];

interface AccessProps {
  value: TokenAccess;
  onChange: (access: TokenAccess) => void;
  /** The highest access that can be chosen. */
  most?: TokenAccess;
}

/** What a token may do. */
export function AccessChoice({ value, onChange, most = "all" }: AccessProps) {
  return (
    <fieldset class="checks">
      <legend>Access</legend>
      {accesses.slice(0, accesses.indexOf(most) + 1).map((access) => (
        <label class="choice" key={access}>
          <input type="radio" name="access" checked={value === access} onChange={() => onChange(access)} />
          <span>
            {accessTexts[access][0]} <span class="muted">{accessTexts[access][1]}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

interface OrganizationsProps {
  organizations: readonly OrganizationReply[];
  /** The chosen ids; null for all, including organizations that the user joins later. */
  value: readonly string[] | null;
  onChange: (ids: readonly string[] | null) => void;
}

/** Which organizations a token reaches. */
export function OrganizationChoice({ organizations, value, onChange }: OrganizationsProps) {
  const choose = (id: string, isChosen: boolean) => {
    const others = (value ?? []).filter((other) => other !== id);
    onChange(isChosen ? [...others, id] : others);
  };
  return (
    <fieldset class="checks">
      <legend>Organizations</legend>
      <label class="choice">
        <input type="radio" name="organizations" checked={value === null} onChange={() => onChange(null)} />
        <span>
          All <span class="muted">Also those that you join later.</span>
        </span>
      </label>
      <label class="choice">
        <input type="radio" name="organizations" checked={value !== null} onChange={() => onChange([])} />
        Only these:
      </label>
      {value !== null &&
        organizations.map(({ id, name }) => (
          <label class="choice nested" key={id}>
            <input
              type="checkbox"
              checked={value.includes(id)}
              onChange={(event) => choose(id, event.currentTarget.checked)}
            />
            <UserText>{name}</UserText>
          </label>
        ))}
    </fieldset>
  );
}
