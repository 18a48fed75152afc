import type { ExtensionSkill } from '../../gen/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { TextLink } from '../navigation/links.tsx';
import { useViewer } from '../users/viewer.ts';
import { ExtensionRow } from './extension-row.tsx';
import { SKILL_REASONS, STATE_TONES } from './states.ts';

export interface SkillListProps {
  label: string;
  skills: readonly ExtensionSkill[];
  none: string;
  /** The chosen version of a skill; undefined when the skill is not chosen. */
  versionOf: (skillId: string) => number | undefined;
  /** Chooses a version of a skill, or removes it. Without it the list cannot be changed. */
  onChange?: (skillId: string, version: number | undefined) => void;
}

export function SkillList({ label, skills, none, versionOf, onChange }: SkillListProps) {
  const { isAdministrator } = useViewer();
  if (skills.length === 0) return <p className="py-4 text-muted">{none}</p>;
  return (
    <Card>
      <ul aria-label={label}>
        {skills.map((skill) => {
          const { skill_id: skillId, name, description, version, state } = skill;
          const chosen = versionOf(skillId);
          return (
            <ExtensionRow
              key={skillId}
              name={name || skillId}
              description={description}
              reason={SKILL_REASONS[state]}
              isSelected={chosen !== undefined}
              onSelect={onChange && ((isSelected) => onChange(skillId, isSelected ? version : undefined))}
              facts={
                <>
                  <span className="text-[13px] text-muted tabular-nums">Version {chosen ?? version}</span>
                  <Badge tone={STATE_TONES[state]}>{state}</Badge>
                  {isAdministrator && state !== 'deleted' && (
                    <TextLink
                      to="/skills/$skillId"
                      params={{ skillId }}
                      search={{ version: chosen ?? version }}
                      aria-label={`Open ${name}`}
                    >
                      Open
                    </TextLink>
                  )}
                </>
              }
            >
              {chosen !== undefined && <NewerVersion skill={skill} chosen={chosen} onChange={onChange} />}
            </ExtensionRow>
          );
        })}
      </ul>
    </Card>
  );
}

interface NewerVersionProps {
  skill: ExtensionSkill;
  chosen: number;
  onChange: SkillListProps['onChange'];
}

/** A newer version than the saved one, and the button that moves to it or back. */
function NewerVersion({ skill, chosen, onChange }: NewerVersionProps) {
  const { skill_id: skillId, name, version, newest_version: newest, state } = skill;
  if (newest <= version || state === 'deleted') return null;
  const hasMoved = chosen === newest;
  const target = hasMoved ? version : newest;
  return (
    <div className="mt-1 flex flex-wrap items-center gap-2">
      <span role="status">
        {hasMoved ? `Moves from version ${version} to ${newest}.` : `Newer version ${newest}`}
      </span>
      {onChange && (
        <Button small onClick={() => onChange(skillId, target)}>
          {hasMoved ? `Keep version ${version}` : `Move to version ${newest}`}
          <span className="sr-only"> of {name}</span>
        </Button>
      )}
    </div>
  );
}
