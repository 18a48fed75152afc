import { useQuery } from '@tanstack/react-query';
import { type Extensions, type ExtensionsTarget, extensions, extensionsPath } from '../../api/extensions.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { CopyCurl } from '../curl/copy-curl.tsx';
import { useCurl } from '../curl/use-curl.ts';
import { ErrorState } from '../errors/error-state.tsx';
import { useQueryFailure } from '../errors/use-query-failure.ts';
import { ExtensionsForm } from './extensions-form.tsx';
import { ExtensionsPart } from './extensions-part.tsx';
import { ServerList } from './server-list.tsx';
import { SkillList } from './skill-list.tsx';

export interface ExtensionsEditorProps {
  target: ExtensionsTarget;
  isReadOnly: boolean;
}

/** The MCP servers and skills of an agent or assistant, and those that the viewer can add. */
export function ExtensionsEditor({ target, isReadOnly }: ExtensionsEditorProps) {
  const query = useQuery(extensions.of(target));
  const failure = useQueryFailure(query);
  const curlOf = useCurl();
  const path = extensionsPath(target);
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-[13px] text-muted">
          Servers and skills of this {'agentId' in target ? 'agent' : 'assistant'}. Running sessions keep the
          version they started with.
        </p>
        <CopyCurl path={path} />
      </div>
      {query.data === undefined ? (
        failure ? (
          <ErrorState {...failure} curl={curlOf({ path })} />
        ) : (
          <Skeleton lines={3} />
        )
      ) : isReadOnly ? (
        <SelectedExtensions of={query.data} />
      ) : (
        <ExtensionsForm target={target} newest={query.data} />
      )}
    </div>
  );
}

function SelectedExtensions({ of: { mcp_servers: servers, skills } }: { of: Extensions }) {
  return (
    <>
      <ExtensionsPart title="MCP servers" lead="Remote servers with tools.">
        <ServerList label="Selected MCP servers" servers={servers} none="No MCP servers." />
      </ExtensionsPart>
      <ExtensionsPart title="Skills" lead="Instructions and files that the model reads when it needs them.">
        <SkillList
          label="Selected skills"
          skills={skills}
          none="No skills."
          versionOf={(skillId) => skills.find(({ skill_id: id }) => id === skillId)?.version}
        />
      </ExtensionsPart>
    </>
  );
}
