import { NumberField } from '../../../parts/editor/number-field.tsx';
import { problemAt } from '../../../parts/editor/problems.ts';
import { Field, Input } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { browserZone, type ScheduleDraft } from './draft.ts';
import type { ScheduleFieldsProps } from './fields-props.ts';
import { MISSING, REPEATED } from './labels.ts';

const KINDS: readonly { value: ScheduleDraft['kind']; text: string }[] = [
  { value: 'cron', text: 'Calendar (cron)' },
  { value: 'every', text: 'Interval' },
  { value: 'at', text: 'Once' },
];

const EXAMPLES = [
  { value: '0 9 * * 1-5', text: '9:00 on working days' },
  { value: '*/15 * * * *', text: 'Every 15 minutes' },
  { value: '0 0 L * *', text: 'Midnight of the last day of the month' },
  { value: '0 8 * * MON#1', text: '8:00 on the first Monday of the month' },
  { value: '@daily', text: 'Midnight' },
];

/** When a schedule runs. */
export function TimingFields({ draft, onChange, problems }: ScheduleFieldsProps) {
  return (
    <>
      <Select
        label="Kind of timing"
        value={draft.kind}
        options={KINDS}
        onChange={(kind) => onChange({ kind })}
      />
      {draft.kind === 'cron' && <CronFields draft={draft} onChange={onChange} problems={problems} />}
      {draft.kind === 'every' && (
        <NumberField
          label="Interval in seconds"
          hint="Counted from the start or the creation. Daylight saving has no effect on it."
          value={draft.everySeconds}
          onChange={(everySeconds) => onChange({ everySeconds })}
          error={problemAt(problems, '/every_seconds')}
        />
      )}
      {draft.kind === 'at' && (
        <TimeField
          label="Time"
          value={draft.at}
          onChange={(at) => onChange({ at })}
          error={problemAt(problems, '/at')}
        />
      )}
      {draft.kind !== 'at' && (
        <div className="grid gap-4 sm:grid-cols-2">
          <TimeField
            label="Not before"
            optional
            value={draft.startAt}
            onChange={(startAt) => onChange({ startAt })}
            error={problemAt(problems, '/start_at')}
          />
          <TimeField
            label="Not after"
            optional
            value={draft.endAt}
            onChange={(endAt) => onChange({ endAt })}
            error={problemAt(problems, '/end_at')}
          />
        </div>
      )}
    </>
  );
}

function CronFields({ draft, onChange, problems }: ScheduleFieldsProps) {
  return (
    <>
      <Field
        label="Cron expression"
        hint="Minute, hour, day of month, month and day of week."
        error={problemAt(problems, '/cron')}
      >
        <Input
          dir="ltr"
          className="font-mono"
          value={draft.cron}
          suggestions={EXAMPLES}
          onChange={(event) => onChange({ cron: event.target.value })}
        />
      </Field>
      <Field label="Time zone" hint="An IANA name." error={problemAt(problems, '/timezone')}>
        <Input
          dir="ltr"
          value={draft.timezone}
          suggestions={ZONES}
          onChange={(event) => onChange({ timezone: event.target.value })}
        />
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <Choice label="Times that the clock skips">
          <Select
            label="Times that the clock skips"
            value={draft.missing}
            options={MISSING}
            onChange={(missing) => onChange({ missing })}
          />
        </Choice>
        <Choice label="Times that occur twice">
          <Select
            label="Times that occur twice"
            value={draft.repeated}
            options={REPEATED}
            onChange={(repeated) => onChange({ repeated })}
          />
        </Choice>
      </div>
    </>
  );
}

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone')].map((value) => ({ value, text: value }));

/** A select box with a visible label; the select box repeats it as its accessible name. */
export function Choice({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div className="flex flex-col gap-1">
      <span className="font-medium" aria-hidden>
        {label}
      </span>
      {children}
    </div>
  );
}

interface TimeFieldProps {
  label: string;
  optional?: boolean;
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}

/** A date and time in the time zone of the browser. */
export function TimeField({ label, optional = false, value, onChange, error }: TimeFieldProps) {
  return (
    <Field label={label} optional={optional} hint={`In the time zone ${browserZone()}.`} error={error}>
      <Input
        type="datetime-local"
        step={1}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className="tabular-nums"
      />
    </Field>
  );
}
