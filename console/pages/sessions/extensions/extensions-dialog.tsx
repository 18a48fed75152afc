import { useQuery } from '@tanstack/react-query';
import { sessionExtensions, sessionExtensionsPath } from '../../../api/session-extensions.ts';
import type { SessionExtensions } from '../../../gen/index.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../../parts/curl/use-curl.ts';
import { ErrorState } from '../../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../../parts/errors/use-query-failure.ts';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { type ExtensionItem, ExtensionList } from './extension-list.tsx';

export interface ExtensionsDialogProps {
  sessionId: string;
  onClose: () => void;
}

/** The servers, skills and variables that a session can use, each with its state and the reason for it. */
export function ExtensionsDialog({ sessionId, onClose }: ExtensionsDialogProps) {
  const query = useQuery(sessionExtensions(sessionId));
  const failure = useQueryFailure(query);
  const curlOf = useCurl();
  const path = sessionExtensionsPath(sessionId);
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="Available extensions"
      description="Those of the agent version of the session. A change of their state counts from the next turn on."
      initialFocus="title"
    >
      <p role="status" className="sr-only">
        {query.data && countsOf(query.data)}
      </p>
      {failure ? (
        <ErrorState {...failure} curl={curlOf({ path })} />
      ) : query.data === undefined ? (
        <Skeleton lines={4} />
      ) : (
        <div className="flex flex-col gap-4">
          <ExtensionList title="MCP servers" items={serversOf(query.data)} none="No MCP servers." />
          <ExtensionList title="Skills" items={skillsOf(query.data)} none="No skills." />
          <ExtensionList
            title="Variables"
            items={variablesOf(query.data)}
            none={query.data.credentials_available ? 'No variables of vaults.' : UNKNOWN_VARIABLES}
          />
        </div>
      )}
      <DialogActions>
        <CopyCurl path={path} />
      </DialogActions>
    </Dialog>
  );
}

const UNKNOWN_VARIABLES = 'Unknown, because credentials cannot be read now. Try again later.';

function countsOf(extensions: SessionExtensions): string {
  const { mcp_servers: servers, skills, variables, credentials_available: isKnown } = extensions;
  const ofVariables = isKnown ? countText(variables, 'variable') : 'variables unknown';
  return `${countText(servers, 'MCP server')}, ${countText(skills, 'skill')}, ${ofVariables}`;
}

const countText = ({ length }: readonly unknown[], noun: string) =>
  `${length} ${length === 1 ? noun : `${noun}s`}`;

const CREDENTIALS = {
  personal: 'Uses your connection',
  shared: 'Uses a shared credential',
  none: 'Needs no credential',
};

const serversOf = ({ mcp_servers: servers }: SessionExtensions): ExtensionItem[] =>
  servers.map(({ mcp_server_id: id, name, state, reason, credential }) => ({
    ...{ id, name, state, reason },
    detail: CREDENTIALS[credential],
  }));

const skillsOf = ({ skills }: SessionExtensions): ExtensionItem[] =>
  skills.map(({ skill_id: id, name, version, state, reason }) => ({
    ...{ id, name, state, reason },
    detail: `Version ${version}`,
  }));

const variablesOf = ({ variables }: SessionExtensions): ExtensionItem[] =>
  variables.map(({ name, hosts, state, reason }) => ({
    ...{ id: name, name, state, reason },
    detail: hosts.join(', '),
  }));
