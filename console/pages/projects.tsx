import { useEffect, useRef, useState } from "preact/hooks";
import type { ProjectReply } from "../../api/projects.ts";
import { client } from "../api.ts";
import { useBuildsSummary, useEndpoints } from "../builds.ts";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { TextField } from "../components/field.tsx";
import { DialogForm } from "../components/form.tsx";
import { Loading } from "../components/loading.tsx";
import { Page } from "../components/shell.tsx";
import { BuildStatus, Status } from "../components/status.tsx";
import { Time } from "../components/time.tsx";
import { UserText } from "../components/user-text.tsx";
import { fieldErrors } from "../explain.ts";
import { useLoad } from "../load.ts";
import { useMutation } from "../mutation.ts";
import { paths, useGo, useOrgId } from "../paths.ts";
import { rememberOrganization } from "./home.tsx";

function NewProject({ orgId, onClose }: { orgId: string; onClose: () => void }) {
  const [name, setName] = useState("");
  const go = useGo();
  const create = useMutation((_: undefined, call) => client.createProject({ orgId, name }, call), {
    refreshes: `projects/${orgId}`,
    onDone: ({ project }) => go(paths.project(orgId, project.id)),
  });
  return (
    <Dialog title="New project" onClose={onClose}>
      <DialogForm of={create} onSubmit={() => void create.run()} action="Create project" onClose={onClose}>
        <TextField
          label="Name"
          hint="A project is one app with its builds, variables and domains. The name can be changed later."
          value={name}
          onInput={setName}
          required
          autofocus
          error={fieldErrors(create.error).name}
        />
      </DialogForm>
    </Dialog>
  );
}

/** Whether an element has come into view once: what it shows is loaded only then. */
function useSeen() {
  const element = useRef<HTMLLIElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (!element.current) return;
    const observer = new IntersectionObserver(([entry]) => {
      if (!entry?.isIntersecting) return;
      setSeen(true);
      observer.disconnect();
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return { element, isSeen };
}

function ProjectCard({ orgId, project }: { orgId: string; project: ProjectReply }) {
  const { element, isSeen } = useSeen();
  const ids = { orgId, projectId: project.id };
  const { data: summary, error } = useBuildsSummary(ids, isSeen);
  const live = summary?.live;
  const endpoints = useEndpoints(ids, live !== undefined).data?.endpoints ?? [];
  const newest = summary?.newest;
  return (
    <li class="card" ref={element}>
      <div class="card-head">
        <h2>
          <a class="cover" href={paths.project(orgId, project.id)}>
            <UserText>{project.name}</UserText>
          </a>
        </h2>
        {live ? (
          <Status tone="good">Live</Status>
        ) : summary && !summary.isLiveKnown ? (
          <Status tone="warn">Live? Could not tell</Status>
        ) : summary ? (
          <Status tone="idle">{newest ? "Nothing serves" : "New"}</Status>
        ) : null}
      </div>
      <p class="card-address">
        {endpoints[0] ? (
          <a href={endpoints[0]} target="_blank" rel="noreferrer">
            {endpoints[0].replace(/^https?:\/\//, "")}
          </a>
        ) : (
          <span class="muted">{error !== undefined ? "Its builds could not be read." : "No address yet"}</span>
        )}
      </p>
      <dl class="card-facts">
        <div>
          <dt>Serving</dt>
          <dd>
            {live ? (
              <>
                <UserText>{live.title ?? "Untitled build"}</UserText> <Time at={live.updatedAt} />
              </>
            ) : (
              "–"
            )}
          </dd>
        </div>
        <div>
          <dt>Last build</dt>
          <dd>
            {newest ? (
              <>
                <BuildStatus
                  build={{ ...newest, canceledAt: newest.redeployBlockedBy === "canceled" ? newest.updatedAt : null }}
                />{" "}
                <Time at={newest.createdAt} />
              </>
            ) : summary ? (
              "None"
            ) : (
              "…"
            )}
          </dd>
        </div>
      </dl>
    </li>
  );
}

export function ProjectsPage() {
  const orgId = useOrgId();
  const [isMaking, setMaking] = useState(false);
  useEffect(() => rememberOrganization(orgId), [orgId]);
  const projects = useLoad(`projects/${orgId}`, async () => {
    const all: ProjectReply[] = [];
    for await (const project of client.iterate("listProjects", { orgId, limit: 100 })) all.push(project);
    return all;
  });
  const make = (
    <Button kind="primary" onClick={() => setMaking(true)}>
      New project
    </Button>
  );
  return (
    <Page title="Projects" actions={make}>
      <Loading of={projects} what="projects">
        {(all) =>
          all.length === 0 ? (
            <EmptyState title="No projects yet">
              <p>
                A project is one app: you send its source as a zip, Slipway builds it, checks that it is healthy, and
                gives it an address. Make a project, then drop a folder into it.
              </p>
              {make}
            </EmptyState>
          ) : (
            <ul class="cards">
              {all.map((project) => (
                <ProjectCard key={project.id} orgId={orgId} project={project} />
              ))}
            </ul>
          )
        }
      </Loading>
      {isMaking && <NewProject orgId={orgId} onClose={() => setMaking(false)} />}
    </Page>
  );
}
