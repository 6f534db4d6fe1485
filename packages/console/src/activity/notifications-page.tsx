/** Notifications that were not delivered yet: what waits for another try, what was given up, and trying again. */
import { DELIVERY_STATES, type AdminDeliveryFilter, type DeliveryView } from "@sallyport/contract/admin";
import { Link } from "@tanstack/react-router";
import { BellRing, RotateCw } from "lucide-react";
import { type ReactNode, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { attempt } from "../data/change.tsx";
import { usePaged } from "../data/paged.ts";
import { Age, Countdown } from "../display/clock.tsx";
import { Hostile } from "../display/hostile.tsx";
import { plural } from "../display/words.ts";
import { Badge, type Tone } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/identity-filter.tsx";
import { Page } from "../parts/page.tsx";
import { PagedRows } from "../parts/paged-rows.tsx";
import { Fact, Row } from "../parts/row-list.tsx";

const STATES: Readonly<Record<DeliveryView["state"], { readonly label: string; readonly tone: Tone }>> = {
  waiting: { label: "waits for its next try", tone: "accent" },
  given_up: { label: "given up", tone: "danger" },
};

/** For tries that fail; what is given up is told at once. */
const LOOK_MS = 30_000;

export function NotificationsPage(): ReactNode {
  const [filter, setFilter] = useState<AdminDeliveryFilter>({});
  const list = usePaged(["deliveries", filter], (page) => admin.deliveries(filter, page), {
    everyMs: LOOK_MS,
  });
  return (
    <Page
      title="Notifications"
      about="Webhooks that tell people of new requests. What arrived is not listed; what did not is tried again with growing pauses, and given up in the end."
      actions={
        <Choice
          label="State"
          value={filter.state}
          values={DELIVERY_STATES}
          onValue={(state) => setFilter(state === "" ? {} : { state: state as DeliveryView["state"] })}
        />
      }
    >
      <PagedRows
        list={list}
        label="Notifications"
        empty={{
          icon: BellRing,
          title: "Nothing is undelivered",
          text: "Every notification arrived, or none is configured. Webhooks stand in the settings of the server: settings.json in its data folder.",
        }}
      >
        {(delivery) => <DeliveryRow key={delivery.id} delivery={delivery} />}
      </PagedRows>
    </Page>
  );
}

function DeliveryRow({ delivery }: { readonly delivery: DeliveryView }): ReactNode {
  const state = STATES[delivery.state];
  const retry = (): void => {
    attempt(() => admin.retryDelivery(delivery.id), {
      done: "It will be tried again now.",
      topics: ["deliveries"],
    }).catch(() => undefined);
  };
  return (
    <Row
      title={
        <span className="flex flex-wrap items-baseline gap-2">
          <span className="font-semibold">
            <Hostile text={delivery.webhook} />
          </span>
          <Badge tone={state.tone}>{state.label}</Badge>
          {delivery.configured ? null : <Badge tone="warn">webhook is not configured any more</Badge>}
        </span>
      }
      facts={
        <>
          <span>{plural(delivery.attempts, "attempt")}</span>
          <Fact name="made">
            <Age at={delivery.createdAt} />
          </Fact>
          {delivery.nextAt === null ? null : (
            <Fact name="next">
              <Countdown at={delivery.nextAt} past="now" />
            </Fact>
          )}
          {delivery.requestId === null ? null : (
            <Link to="/" search={{ id: delivery.requestId }} className="text-accent underline">
              the request
            </Link>
          )}
        </>
      }
      actions={
        delivery.state === "given_up" && delivery.configured ? (
          <Button onClick={retry}>
            <RotateCw size={14} aria-hidden />
            Try again
          </Button>
        ) : undefined
      }
    >
      {delivery.lastError === null ? null : (
        <p className="mt-2 rounded-md bg-danger-soft px-3 py-2 text-sm text-danger" data-last-error>
          <Hostile text={delivery.lastError} />
        </p>
      )}
    </Row>
  );
}
