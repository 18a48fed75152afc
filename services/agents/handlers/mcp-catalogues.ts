import { refuse } from '../../../lib/errors.ts';
import { administratorOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { catalogueText, readCatalogue } from '../../../lib/mcp-catalogue/catalogue.ts';
import { diffCatalogues, toolsToReview } from '../../../lib/mcp-catalogue/diff.ts';
import { checkRevision } from '../../../lib/revisions.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { approvedCatalogue, checkRules, checkSeen, withEffects } from '../domain/mcp-review.ts';
import { findWarnings } from '../domain/mcp-warnings.ts';
import type { DecideReview } from '../store/mcp-catalogues.ts';
import type { AgentsHandlerContext } from './context.ts';
import { mcpServerMessage } from './mcp-server-message.ts';
import { MCP_SERVER_NOUN } from './requests.ts';
import { createSeenRecorder } from './seen-catalogue.ts';

type Methods = Pick<
  Handlers<AgentsServiceDefinition>,
  | 'getCatalogue'
  | 'reviewCatalogue'
  | 'reportCatalogue'
  | 'lookUpMcpServers'
  | 'listConnectableServers'
  | 'getCatalogueBody'
>;

const MAX_LOOKED_UP = 100;

/** The RPCs for catalogues of MCP servers and their reviews. */
export function mcpCatalogueHandlers(context: AgentsHandlerContext): Methods {
  const { mcpServers, mcpCatalogues, record, clock, publishHint, waitForCaches } = context;
  const recordSeen = createSeenRecorder(context);

  return {
    async getCatalogue({ mcpServerId, of }, call) {
      administratorOf(call);
      const server = await mcpServers.server(mcpServerId, call);
      const isReviewed = of === 'reviewed';
      const sha256 = isReviewed ? server.reviewedSha256 : server.seenSha256;
      const json = await mcpCatalogues.body(mcpServerId, sha256, call);
      if (json === undefined) throw unreviewed(isReviewed);
      const review = isReviewed ? await mcpCatalogues.newestReview(server, call) : undefined;
      const { rules = [], offerResources = false } = review ?? {};
      return {
        sha256,
        catalogueJson: json,
        warnings: findWarnings(readCatalogue(json)),
        rules,
        offerResources,
      };
    },

    async reviewCatalogue(request, call) {
      const { mcpServerId, sha256, rules: requested, pending, offerResources, ifRevisions } = request;
      const { userId } = administratorOf(call);
      // The audit log refuses ids and digests of another form.
      const { seenSha256 } = await mcpServers.server(mcpServerId, call);
      checkSeen(sha256, seenSha256);
      const offered = requested.filter((rule) => rule.offered).length;
      const data = { sha256, offered, pending: pending.length };
      await record({ action: 'mcp-server.review', targetId: mcpServerId, data }, call);
      const decide: DecideReview = ({ server, seen: json, earlier }) => {
        checkRevision(MCP_SERVER_NOUN, server.revision, ifRevisions);
        checkSeen(sha256, server.seenSha256);
        const seen = readCatalogue(json ?? '');
        const decided = withEffects(requested, seen, server);
        const reviewed = earlier && { catalogue: readCatalogue(earlier.json), rules: earlier.rules };
        const { catalogue, rules } = approvedCatalogue(decided, pending, seen, reviewed);
        const counts = checkRules(server.name, rules, catalogue);
        const { title, tools } = catalogue;
        const changedTools = toolsToReview(diffCatalogues(catalogue, seen));
        const by = { reviewedBy: userId, reviewedAt: clock.now() };
        const texts = { ...catalogueText(catalogue), title, toolCount: tools.length };
        return { ...texts, ...counts, ...by, rules, offerResources, changedTools };
      };
      const after = await mcpCatalogues.review(mcpServerId, decide, call);
      publishHint('extensions.changed', mcpServerId);
      await waitForCaches();
      return { mcpServer: mcpServerMessage(after) };
    },

    async reportCatalogue({ mcpServerId, protocolVersion, catalogueJson }, call) {
      await recordSeen(mcpServerId, { protocolVersion, json: catalogueJson }, call);
      return {};
    },

    async lookUpMcpServers({ mcpServerIds }, call) {
      if (mcpServerIds.length > MAX_LOOKED_UP)
        throw refuse('INVALID_REQUEST', `At most ${MAX_LOOKED_UP} MCP servers can be looked up at once.`);
      return { mcpServers: await mcpServers.lookUp(mcpServerIds, call) };
    },

    async listConnectableServers(_, call) {
      return { mcpServers: await mcpServers.connectable(call) };
    },

    async getCatalogueBody({ sha256 }, call) {
      const catalogueJson = await mcpCatalogues.bodyByDigest(sha256, call);
      if (catalogueJson === undefined) throw unreviewed(true);
      return { catalogueJson };
    },
  };
}

function unreviewed(isReviewed: boolean) {
  return refuse(
    'CATALOGUE_UNREVIEWED',
    isReviewed
      ? 'The catalogue of this MCP server has not been reviewed. Probe the server and review its catalogue.'
      : 'No catalogue of this MCP server has been seen. Probe the server.',
  );
}
