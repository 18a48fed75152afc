import { useQueryClient } from '@tanstack/react-query';
import { Upload } from 'lucide-react';
import { useState } from 'react';
import { type PublishedSkill, skills } from '../../api/skills.ts';
import type { Skill } from '../../gen/index.ts';
import { ToggleResource } from '../../parts/actions/toggle-resource.tsx';
import { DeleteResource } from '../../parts/editor/delete-resource.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { ArchiveUpload } from './upload/archive-upload.tsx';

interface SkillProps {
  skill: Skill;
}

const CONSEQUENCES = {
  disable: 'Sessions do not get it from their next turn on. Agents and assistants keep the skill.',
  enable: 'Sessions of agents and assistants that have the skill get it from their next turn on.',
};

export function ToggleSkill({ skill }: SkillProps) {
  const { skill_id: id, name, revision } = skill;
  const queries = useQueryClient();
  return (
    <ToggleResource
      noun="skill"
      name={name}
      resource={skill}
      path={`/admin/skills/${id}`}
      run={(change) => skills.update(id, revision, change)}
      onDone={() => queries.invalidateQueries({ queryKey: ['skills'] })}
      consequences={CONSEQUENCES}
    />
  );
}

export function DeleteSkill({ skill: { skill_id: id, name, version } }: SkillProps) {
  return (
    <DeleteResource
      noun="skill"
      id={id}
      name={name}
      path={`/admin/skills/${id}`}
      run={() => skills.remove(id)}
    >
      <p>
        {version === 1 ? 'Its version is' : `Its ${version} versions are`} deleted. This cannot be undone. A
        skill of an agent or assistant cannot be deleted: remove it there first.
      </p>
    </DeleteResource>
  );
}

/** Publishes a version from an archive. Closing the dialog cancels the upload. */
export function PublishVersion({
  skill: { skill_id: skillId, name },
  onPublished,
}: SkillProps & { onPublished: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const queries = useQueryClient();
  const close = () => setOpen(false);
  function report({ skill, isNew }: PublishedSkill): void {
    close();
    toast.done(
      isNew
        ? `Version ${skill.version} was published.`
        : `Version ${skill.version} has the same files. No version was published.`,
    );
    queries.setQueryData(skills.detail(skillId).queryKey, skill);
    void queries.invalidateQueries({ queryKey: skills.versions(skillId).queryKey });
    void queries.invalidateQueries({ queryKey: ['skills', 'list'] });
    onPublished();
  }
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        <Upload aria-hidden />
        New version
      </Button>
      <Dialog
        open={isOpen}
        onClose={close}
        title="New version"
        description={`The name in SKILL.md must be ${name}. Agents and assistants keep the version that they have.`}
      >
        <ArchiveUpload skillId={skillId} onPublished={report} />
      </Dialog>
    </>
  );
}
