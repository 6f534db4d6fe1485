/** No such page. */
import { Link } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import type { ReactNode } from "react";
import { Empty } from "../parts/states.tsx";

export function NotFound(): ReactNode {
  return (
    <Empty icon={Compass} title="There is no such page">
      <Link to="/" className="text-accent underline">
        Go to the inbox
      </Link>
    </Empty>
  );
}
