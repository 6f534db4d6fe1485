/** Sandboxes as they were applied: what stands at the wall, and what does not. */
import type { ProfileView } from "@sallyport/contract/admin";
import { Box, ShieldAlert, ShieldCheck } from "lucide-react";
import type { ReactNode } from "react";
import { admin } from "../data/late-admin.ts";
import { usePaged } from "../data/paged.ts";
import { Age } from "../display/clock.tsx";
import { Hostile } from "../display/hostile.tsx";
import { SubjectName } from "../display/identity.tsx";
import { Badge, type Tone } from "../parts/badge.tsx";
import { Page } from "../parts/page.tsx";
import { PagedRows } from "../parts/paged-rows.tsx";
import { Fact, Row } from "../parts/row-list.tsx";

const MODES: Readonly<
  Record<ProfileView["profile"]["mode"], { readonly label: string; readonly tone: Tone }>
> = {
  none: { label: "no sandbox", tone: "danger" },
  guard: { label: "guard only: not a wall", tone: "warn" },
  os: { label: "kernel sandbox", tone: "good" },
};

export function SandboxPage(): ReactNode {
  const list = usePaged(["events", "profiles"], (page) => admin.sandboxProfiles({}, page));
  return (
    <Page
      title="Sandbox"
      about="What was enforced around each run, and what was not. Nothing is called sandboxed without its profile."
    >
      <PagedRows
        list={list}
        label="Sandbox profiles"
        empty={{
          icon: Box,
          title: "No sandbox has been applied",
          text: "A run under the guard or the kernel sandbox records its profile here.",
        }}
      >
        {(view, index) => <ProfileRow key={index} view={view} />}
      </PagedRows>
    </Page>
  );
}

function ProfileRow({ view }: { readonly view: ProfileView }): ReactNode {
  const { profile } = view;
  const mode = MODES[profile.mode];
  return (
    <Row
      title={
        <span className="flex flex-wrap items-baseline gap-2">
          <SubjectName subject={view.subject} />
          <Badge tone={mode.tone}>{mode.label}</Badge>
          {view.phase === "install" ? <Badge>install</Badge> : null}
        </span>
      }
      facts={
        <>
          <Age at={view.appliedAt} />
          <Fact name="platform">
            <Hostile text={profile.platform} />
          </Fact>
          <Fact name="network">{profile.network.access}</Fact>
          <Fact name="in">
            <Hostile mono text={profile.cwd} fold="line" />
          </Fact>
        </>
      }
    >
      <div className="mt-3 grid gap-3 text-sm sm:grid-cols-2">
        <List
          icon={<ShieldCheck size={15} aria-hidden className="text-good" />}
          title="Enforced by"
          values={profile.enforcedBy}
          none="nothing"
        />
        <List
          icon={<ShieldAlert size={15} aria-hidden className="text-warn" />}
          title="Not enforced"
          values={profile.notEnforced}
          none="nothing is left out"
        />
        <List title="May read" values={profile.readRoots} none="no folder" />
        <List title="May write" values={profile.writeRoots} none="no folder" />
      </div>
    </Row>
  );
}

function List({
  icon,
  title,
  values,
  none,
}: {
  readonly icon?: ReactNode;
  readonly title: string;
  readonly values: readonly string[];
  readonly none: string;
}): ReactNode {
  return (
    <div>
      <p className="flex items-center gap-1.5 text-xs font-medium text-ink-2">
        {icon}
        {title}
      </p>
      {values.length === 0 ? <p className="text-ink-3">{none}</p> : null}
      <ul>
        {values.map((value) => (
          <li key={value}>
            <Hostile mono text={value} />
          </li>
        ))}
      </ul>
    </div>
  );
}
