// Routes about the server itself: its health, and what it is and where it stores data. The caller
// provides the facts.
import type { Providers } from "../../auth/providers.ts";
import { json } from "../../response.ts";
import type { Route } from "../../route.ts";
import type { AboutDocument, HealthDocument } from "../../wire-administration.ts";

export interface ConsoleStatus {
  health(): Promise<HealthDocument>;
  about(): Promise<Omit<AboutDocument, "providers">>;
}

export function statusRoutes(status: ConsoleStatus, providers: Providers["list"]): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/api/health",
      needs: { right: "view", on: "store" },
      run: async () => json((await status.health()) satisfies HealthDocument),
    },
    {
      method: "GET",
      path: "/api/about",
      // Paths and addresses of the server are for administrators.
      needs: { right: "administer", on: "store" },
      async run() {
        const listed = providers.map(({ name, title }) => ({ name, title }));
        return json({ ...(await status.about()), providers: listed } satisfies AboutDocument);
      },
    },
  ];
}
