import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../../api/client.ts';
import { mcpServers } from '../../../api/mcp-servers.ts';
import type { McpCatalogue, McpServer, McpToolRule } from '../../../gen/index.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { LeaveGuard } from '../../../parts/editor/leave-guard.tsx';
import { ErrorAlert } from '../../../parts/errors/error-state.tsx';
import { VisibleText } from '../../../parts/text/visible-text.tsx';
import { Button } from '../../../ui/button.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { toast } from '../../../ui/toast.tsx';
import { type ComparedTool, compareTools, type Decisions, ruleOf } from './decisions.ts';
import { ServerTexts } from './server-texts.tsx';
import { ToolGroup } from './tool-group.tsx';

export interface ReviewProps {
  server: McpServer;
  seen: McpCatalogue;
  reviewed: McpCatalogue | null;
}

/** The decisions about each tool of the seen catalogue. */
export function Review({ server, seen, reviewed }: ReviewProps) {
  const { mcp_server_id: id, revision } = server;
  const [decisions, setDecisions] = useState<Decisions>({});
  const [offersResources, setOffersResources] = useState<boolean>();
  const queries = useQueryClient();
  const { tools, removed } = compareTools(seen, reviewed);
  const unchanged = tools.filter(({ state }) => state === 'unchanged');
  const undecided = tools.filter(({ state }) => state !== 'unchanged');
  const offerResources = offersResources ?? reviewed?.offer_resources ?? false;
  const bodyOf = (decided: readonly ComparedTool[]) => ({
    sha256: seen.sha256,
    tools: decided.map((compared) => ({ name: compared.tool.name, ...ruleOf(compared, decisions) })),
    pending: tools.filter((compared) => !decided.includes(compared)).map(({ tool: { name } }) => name),
    offer_resources: offerResources,
  });
  const body = bodyOf(tools);
  const offered = body.tools.filter((tool) => tool.offered).length;
  const isDirty = Object.keys(decisions).length > 0 || offersResources !== undefined;
  const isApproved = reviewed?.sha256 === seen.sha256 && !isDirty;

  const { mutate, isPending, error } = useMutation({
    mutationFn: (review: typeof body) => mcpServers.review(id, revision, review),
    onSuccess: async (_, { pending }) => {
      // Decisions about tools that still wait are kept.
      setDecisions((before) =>
        Object.fromEntries(Object.entries(before).filter(([name]) => pending.includes(name))),
      );
      setOffersResources(undefined);
      toast.done(
        pending.length === 0
          ? 'The tools were approved.'
          : 'The unchanged tools were approved. The others wait for review.',
      );
      await queries.invalidateQueries({ queryKey: ['mcp-servers'] });
    },
    onError: async (failure) => {
      const isStale =
        failure instanceof ApiError && (failure.code === 'CATALOGUE_CHANGED' || failure.status === 412);
      // Decisions about equal tools are kept.
      if (isStale) await queries.invalidateQueries({ queryKey: mcpServers.detail(id).queryKey });
    },
  });
  const approve = (review: typeof body) => {
    if (!isPending) mutate(review);
  };
  const decide = ({ tool }: ComparedTool, rule: McpToolRule) =>
    setDecisions((before) => ({ ...before, [tool.name]: { tool, rule } }));
  const isPartlyUnchanged = unchanged.length > 0 && undecided.length > 0;
  const isCatalogueChanged = error instanceof ApiError && error.code === 'CATALOGUE_CHANGED';

  return (
    <section aria-labelledby="review" className="flex flex-col gap-3">
      <div>
        <h2 id="review" className="font-semibold">
          Review
        </h2>
        <p className="text-[13px] text-muted">Models see the approved texts only.</p>
      </div>
      <ServerTexts seen={seen} reviewed={reviewed} />
      {removed.length > 0 && (
        <p className="wrap-anywhere">
          <span className="font-medium">Removed tools:</span> <VisibleText text={removed.join(', ')} />
        </p>
      )}
      <ToolGroup label="Tools to decide" tools={undecided} decisions={decisions} onDecide={decide} />
      {unchanged.length > 0 && (
        <ToolGroup
          label={unchanged.length === 1 ? '1 unchanged tool' : `${unchanged.length} unchanged tools`}
          tools={unchanged}
          decisions={decisions}
          onDecide={decide}
          isCollapsible
        />
      )}
      {tools.length === 0 && <p className="text-muted">The server has no tools.</p>}
      <Checkbox checked={offerResources} onChange={setOffersResources}>
        Models can list and read the resources of the server
      </Checkbox>
      {isCatalogueChanged && (
        <p role="alert" className="rounded-lg border border-warn bg-warn-soft px-3 py-2">
          The server has changed its tools since you loaded them. The new tools are shown, and your decisions
          about equal tools are kept. Review them and approve again.
        </p>
      )}
      {!isCatalogueChanged && <ErrorAlert error={error} />}
      {isPartlyUnchanged && (
        <p className="text-[13px] text-muted">
          Until you approve them, changed tools are not called and new tools are not offered.
        </p>
      )}
      <div className="flex flex-wrap items-center justify-end gap-2">
        <CopyCurl
          method="PUT"
          path={`/admin/mcp-servers/${id}/catalogue`}
          revision={revision}
          body={body}
          about="of the review"
        />
        {isPartlyUnchanged && (
          <Button busy={isPending} onClick={() => approve(bodyOf(unchanged))}>
            Accept unchanged tools only
          </Button>
        )}
        <Button look="primary" busy={isPending} disabled={isApproved} onClick={() => approve(body)}>
          {offered === 1 ? 'Approve and offer 1 tool' : `Approve and offer ${offered} tools`}
        </Button>
      </div>
      <LeaveGuard isDirty={isDirty} tabs />
    </section>
  );
}
