import { useEffect } from "preact/hooks";
import { client } from "../api.ts";
import { EmptyState } from "../components/empty-state.tsx";
import { Loading } from "../components/loading.tsx";
import { Page } from "../components/shell.tsx";
import { Table } from "../components/table.tsx";
import { Time } from "../components/time.tsx";
import { UserText } from "../components/user-text.tsx";
import { useLoad } from "../load.ts";
import { paths, useOrgId } from "../paths.ts";
import { rememberOrganization } from "./home.tsx";

export function ProjectsPage() {
  const orgId = useOrgId();
  useEffect(() => rememberOrganization(orgId), [orgId]);
  const projects = useLoad(`projects/${orgId}`, (signal) => client.listProjects({ orgId }, { signal }));
  return (
    <Page title="Projects">
      <Loading of={projects} what="projects">
        {({ projects }) =>
          projects.length === 0 ? (
            <EmptyState title="No projects yet" />
          ) : (
            <Table
              label="Projects"
              rows={projects}
              rowKey={({ id }) => id}
              columns={[
                {
                  head: "Name",
                  cell: ({ id, name }) => (
                    <a href={paths.project(orgId, id)}>
                      <UserText>{name}</UserText>
                    </a>
                  ),
                },
                { head: "Created", cell: ({ createdAt }) => <Time at={createdAt} /> },
              ]}
            />
          )
        }
      </Loading>
    </Page>
  );
}
