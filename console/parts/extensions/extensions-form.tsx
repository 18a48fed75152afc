import { type Extensions, type ExtensionsTarget, extensions, extensionsPath } from '../../api/extensions.ts';
import { EditForm } from '../editor/edit-form.tsx';
import { LeaveGuard } from '../editor/leave-guard.tsx';
import { type FieldProblems, problemAt } from '../editor/problems.ts';
import { useEditor } from '../editor/use-editor.ts';
import { extensionsDraftOf, pinnedVersion, readExtensionsDraft, skillText, withSkill } from './draft.ts';
import { ExtensionsPart } from './extensions-part.tsx';
import { ServerList } from './server-list.tsx';
import { SkillList } from './skill-list.tsx';

const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);

/** Form with the servers and skills that an agent or assistant has, and with those that the viewer can add. */
export function ExtensionsForm({ target, newest }: { target: ExtensionsTarget; newest: Extensions }) {
  const editing = useEditor(newest, extensionsDraftOf);
  const noun = 'agentId' in target ? 'agent' : 'assistant';
  const { base, draft, set } = editing;
  const servers = [...newest.mcp_servers, ...newest.available.mcp_servers].toSorted(byName);
  const skills = [...newest.skills, ...newest.available.skills].toSorted(byName);
  const serverText = (id: string) => servers.find(({ mcp_server_id: other }) => other === id)?.name ?? id;
  return (
    <>
      <EditForm
        noun={noun}
        label={`Extensions of the ${noun}`}
        editing={editing}
        newest={newest}
        draftOf={extensionsDraftOf}
        read={readExtensionsDraft}
        shown={(body) => [
          { label: 'MCP servers', text: body.mcp_server_ids.map(serverText).join('\n') },
          { label: 'Skills', text: body.skill_ids.map((pin) => skillText(pin, skills)).join('\n') },
        ]}
        save={(_, body) => extensions.put(target, base.revision, body)}
        isWhole
        path={extensionsPath(target)}
        revision={base.revision}
        queryKey={extensions.of(target).queryKey}
      >
        {(problems) => (
          <div className="mb-3 flex flex-col gap-5">
            <ExtensionsPart title="MCP servers" lead="Remote servers with tools.">
              <ServerList
                label="MCP servers"
                servers={servers}
                none="There are no MCP servers that you can add. An administrator creates them."
                selected={draft.servers}
                onSelect={(id, isSelected) => {
                  const others = draft.servers.filter((other) => other !== id);
                  set({ servers: (isSelected ? [...others, id] : others).toSorted() });
                }}
              />
              <Selection chosen={draft.servers} all={servers} problems={problems} pointer="/mcp_server_ids" />
            </ExtensionsPart>
            <ExtensionsPart
              title="Skills"
              lead="Instructions and files that the model reads when it needs them. A chosen skill keeps its version."
            >
              <SkillList
                label="Skills"
                skills={skills}
                none="There are no skills that you can add. An administrator publishes them."
                versionOf={(skillId) => pinnedVersion(draft, skillId)}
                onChange={(skillId, version) => set({ skills: withSkill(draft, skillId, version) })}
              />
              <Selection chosen={draft.skills} all={skills} problems={problems} pointer="/skill_ids" />
            </ExtensionsPart>
          </div>
        )}
      </EditForm>
      <LeaveGuard isDirty={editing.isDirty} tabs />
    </>
  );
}

interface SelectionProps {
  chosen: readonly string[];
  all: readonly unknown[];
  problems: FieldProblems;
  pointer: string;
}

/** The number of chosen extensions, and the problem of the choice. */
function Selection({ chosen, all, problems, pointer }: SelectionProps) {
  const problem = problemAt(problems, pointer);
  return (
    <>
      {problem && (
        <p role="alert" className="mt-2 text-[13px] text-bad">
          {problem}
        </p>
      )}
      <p className="mt-2 text-[13px] text-muted empty:hidden" role="status">
        {all.length > 0 && `${chosen.length} of ${all.length} selected`}
      </p>
    </>
  );
}
