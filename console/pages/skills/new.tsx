import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { TextLink } from '../../parts/navigation/links.tsx';
import { AdministratorsOnly } from '../../parts/users/administrators-only.tsx';
import { Page } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { ArchiveUpload } from './upload/archive-upload.tsx';

const route = getRouteApi('/skills/new');

export function NewSkillPage() {
  const navigate = route.useNavigate();
  const queries = useQueryClient();
  return (
    <AdministratorsOnly title="New skill">
      <Page
        title="New skill"
        above={<TextLink to="/skills">Skills</TextLink>}
        lead="A directory with a file SKILL.md in the Agent Skills format, as an archive."
      >
        <ArchiveUpload
          onPublished={({ skill }) => {
            toast.done(`The skill ${skill.name} was created.`);
            void queries.invalidateQueries({ queryKey: ['skills', 'list'] });
            const params = { skillId: skill.skill_id };
            void navigate({ to: '/skills/$skillId', params, replace: true });
          }}
        />
      </Page>
    </AdministratorsOnly>
  );
}
