import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { client } from "../api.ts";
import { useLoad } from "../load.ts";
import { paths, useOrgId, useProject } from "../paths.ts";
import { user } from "../session.ts";
import { UserText } from "./user-text.tsx";

/** The organizations of the user; every page shares one load. */
export function useOrganizations() {
  return useLoad("organizations", (signal) => client.listOrganizations({}, { signal }));
}

/** The project of the page; its key is `project/<id>`. */
export function useCurrentProject() {
  const { ids } = useProject();
  const key = ids.projectId ? `project/${ids.projectId}` : undefined;
  return useLoad(key, (signal) => client.getProject(ids, { signal }));
}

const organizationTabs = [
  ["", "Projects"],
  ["/databases", "Databases"],
  ["/storages", "Files"],
  ["/members", "Organization"],
] as const;

const projectTabs = [
  ["", "Overview"],
  ["/builds", "Builds"],
  ["/app", "App"],
  ["/variables", "Variables"],
  ["/keys", "Keys"],
  ["/domains", "Domains"],
  ["/settings", "Settings"],
] as const;

function Tabs({ label, base, tabs }: { label: string; base: string; tabs: readonly (readonly [string, string])[] }) {
  const { path } = useLocation();
  const isCurrent = (end: string) =>
    end === "" ? path === base : path === base + end || path.startsWith(`${base}${end}/`);
  const nav = useRef<HTMLElement>(null);
  // On a phone the tabs are wider than the window.
  useLayoutEffect(() => {
    const current = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (nav.current && current) nav.current.scrollLeft = current.offsetLeft - (innerWidth - current.offsetWidth) / 2;
  }, [path]);
  return (
    <nav class="tabs" aria-label={label} ref={nav}>
      {tabs.map(([end, text]) => (
        <a key={end} href={base + end} aria-current={isCurrent(end) ? "page" : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}

/** A list of links behind a button, closed by Escape, by a click elsewhere and by following a link. */
export function Menu({
  label,
  text,
  children,
}: {
  label: string;
  text: ComponentChildren;
  children: ComponentChildren;
}) {
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const element = details.current;
      if (!element?.open) return;
      const isInside = event.target instanceof Node && element.contains(event.target);
      const isEscape = event instanceof KeyboardEvent && event.key === "Escape";
      const isLink = event.target instanceof Element && event.target.closest("a, [role=menuitem]") !== null;
      if (event instanceof KeyboardEvent ? !isEscape : isInside && !isLink) return;
      element.open = false;
      if (isEscape) element.querySelector("summary")?.focus();
    };
    document.addEventListener("click", close);
    document.addEventListener("keydown", close);
    return () => {
      document.removeEventListener("click", close);
      document.removeEventListener("keydown", close);
    };
  }, []);
  return (
    <details class="menu" ref={details}>
      <summary aria-label={label}>{text}</summary>
      <div class="menu-items">{children}</div>
    </details>
  );
}

function OrganizationMenu() {
  const orgId = useOrgId();
  const organizations = useOrganizations().data?.organizations ?? [];
  const current = organizations.find(({ id }) => id === orgId);
  if (!orgId) return null;
  return (
    <>
      <span class="slash" aria-hidden="true">
        /
      </span>
      <Menu label={`Organization: ${current?.name ?? "unknown"}`} text={<UserText>{current?.name ?? "…"}</UserText>}>
        <a href={paths.organization(orgId)}>All projects</a>
        <hr />
        {organizations.map(({ id, name }) => (
          <a key={id} href={paths.organization(id)} aria-current={id === orgId ? "true" : undefined}>
            <UserText>{name}</UserText>
          </a>
        ))}
      </Menu>
    </>
  );
}

function ProjectName() {
  const { ids, path } = useProject();
  const { data } = useCurrentProject();
  if (!ids.projectId) return null;
  return (
    <>
      <span class="slash" aria-hidden="true">
        /
      </span>
      <a class="crumb" href={path}>
        <UserText>{data?.project.name ?? "…"}</UserText>
      </a>
    </>
  );
}

/** The frame around every page: the current location, and the navigation. */
export function Shell({ children }: { children: ComponentChildren }) {
  const orgId = useOrgId();
  const { ids, path } = useProject();
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <div class="bar">
          <a class="logo" href={paths.home} aria-label="Slipway, home">
            <Logo />
          </a>
          <OrganizationMenu />
          <ProjectName />
          <span class="grow" />
          <a class="crumb quiet wide-only" href="/docs" target="_blank" rel="noreferrer">
            API
          </a>
          <a class="crumb quiet account" href={paths.account}>
            <span class="avatar" data-initial={(user.value?.name ?? "?").slice(0, 1).toUpperCase()} />
            <span class="account-name">
              <UserText>{user.value?.name ?? ""}</UserText>
            </span>
          </a>
        </div>
        {ids.projectId ? (
          <Tabs label="Project" base={path} tabs={projectTabs} />
        ) : (
          orgId && <Tabs label="Organization" base={paths.organization(orgId)} tabs={organizationTabs} />
        )}
      </header>
      {children}
    </>
  );
}

export function Logo() {
  return (
    <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#2457d6" />
      <path d="M7 20.5h18l-2.6 4.2a2 2 0 0 1-1.7.9H11.3a2 2 0 0 1-1.7-.9z" fill="#fff" />
      <path d="M15.2 6v12H8.4zM17.2 9.2 23.4 18h-6.2z" fill="#fff" />
    </svg>
  );
}

interface PageProps {
  title: string;
  /** A sentence below the title. */
  about?: ComponentChildren;
  /** Buttons beside the title. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

let focusesTitle = false;

/** Focus moves to the next page's title, so that keyboard and screen reader users continue there. */
export function focusNextTitle(): void {
  focusesTitle = true;
  // If only the id in the address changes, the page is not mounted again.
  setTimeout(takeFocus);
}

function takeFocus(): void {
  const title = document.querySelector<HTMLElement>("h1");
  if (!focusesTitle || !title) return;
  focusesTitle = false;
  title.focus({ preventScroll: true });
}

/** A page's title, which is the tab's title too, and its content. */
export function Page({ title, about, actions, children }: PageProps) {
  useEffect(takeFocus, []);
  useEffect(() => {
    document.title = `${title} · Slipway`;
  }, [title]);
  return (
    <main id="main">
      <div class="page-head">
        <div>
          <h1 tabIndex={-1} dir="auto">
            {title}
          </h1>
          {about && <p class="muted">{about}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </div>
      {children}
    </main>
  );
}
