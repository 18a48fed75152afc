import { deployments } from '../../../api/deployments.ts';
import type { Schedule } from '../../../gen/index.ts';
import { EditForm } from '../../../parts/editor/edit-form.tsx';
import { LeaveGuard } from '../../../parts/editor/leave-guard.tsx';
import { useEditor } from '../../../parts/editor/use-editor.ts';
import { pathOf } from '../requests.ts';
import { patchOf, readScheduleDraft, scheduleDraftOf } from './draft.ts';
import { ScheduleFields } from './fields.tsx';
import { scheduleFields } from './labels.ts';

/** Changes a schedule without overwriting changes of other users. */
export function SettingsTab({ schedule }: { schedule: Schedule }) {
  const editing = useEditor(schedule, scheduleDraftOf);
  const { revision } = editing.base;
  return (
    <>
      <EditForm
        noun="schedule"
        editing={editing}
        newest={schedule}
        draftOf={scheduleDraftOf}
        read={readScheduleDraft}
        shown={scheduleFields}
        save={async (changes, whole) => {
          const saved = await deployments.update(schedule, revision, patchOf(changes, whole));
          if (saved.type !== 'schedule')
            throw new Error('The service has returned another type of deployment.');
          return saved;
        }}
        path={pathOf(schedule)}
        revision={revision}
        queryKey={deployments.detail(schedule.agent_id, schedule.deployment_id).queryKey}
      >
        {(problems) => <ScheduleFields draft={editing.draft} onChange={editing.set} problems={problems} />}
      </EditForm>
      <LeaveGuard isDirty={editing.isDirty} />
    </>
  );
}
