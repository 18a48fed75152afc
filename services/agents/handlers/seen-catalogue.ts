import { sha256 } from '../../../lib/digest.ts';
import { refuse } from '../../../lib/errors.ts';
import type { CallOptions } from '../../../lib/grpc/contract.ts';
import { type Catalogue, readCatalogue } from '../../../lib/mcp-catalogue/catalogue.ts';
import { type CatalogueDiff, diffCatalogues, toolsToReview } from '../../../lib/mcp-catalogue/diff.ts';
import type { AgentsHandlerContext } from './context.ts';

interface SeenCatalogue {
  /** Canonical JSON. */
  json: string;
  protocolVersion: string;
}

export interface RecordedCatalogue {
  catalogue: Catalogue;
  sha256: string;
  /** The differences to the reviewed catalogue; without a review, every tool is added. */
  diff: CatalogueDiff;
}

/**
 * Stores the catalogue that was seen at a server. Audits it as `mcp-server.drift` if it differs from the reviewed one and
 * from the last seen one. Refused with INVALID_REQUEST for text that is no canonical catalogue.
 */
export function createSeenRecorder(
  context: Pick<AgentsHandlerContext, 'mcpServers' | 'mcpCatalogues' | 'record' | 'clock' | 'publishHint'>,
) {
  const { mcpServers, mcpCatalogues, record, clock, publishHint } = context;
  return async (mcpServerId: string, seen: SeenCatalogue, call: CallOptions): Promise<RecordedCatalogue> => {
    const catalogue = readSeen(seen.json);
    const digest = sha256(seen.json);
    const server = await mcpServers.server(mcpServerId, call);
    const isDrift = server.review > 0 && ![server.reviewedSha256, server.seenSha256].includes(digest);
    if (isDrift)
      await record({ action: 'mcp-server.drift', targetId: mcpServerId, data: { sha256: digest } }, call);
    let diff = diffCatalogues(undefined, catalogue);
    const changedTools = (reviewed: string | undefined) => {
      if (reviewed === undefined) return [];
      diff = diffCatalogues(readCatalogue(reviewed), catalogue);
      return toolsToReview(diff);
    };
    const stored = { ...seen, sha256: digest };
    await mcpCatalogues.storeSeen(mcpServerId, stored, changedTools, clock.now(), call);
    if (digest !== server.seenSha256) publishHint('extensions.changed', mcpServerId);
    return { catalogue, sha256: digest, diff };
  };
}

function readSeen(json: string): Catalogue {
  try {
    return readCatalogue(json);
  } catch (error) {
    throw refuse('INVALID_REQUEST', 'The catalogue is not canonical JSON of this form.', { cause: error });
  }
}
