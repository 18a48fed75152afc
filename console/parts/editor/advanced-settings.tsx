import { ChevronDown, ChevronRight } from 'lucide-react';
import { lazy, Suspense, useId, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { FormSection } from '../../ui/form-section.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { loadChunk } from '../navigation/load-chunk.ts';
import type { AdvancedFieldsProps } from './advanced-fields.tsx';
import { isContextSet } from './context-draft.ts';
import { problemAt } from './problems.ts';

const AdvancedFields = lazy(async () => ({
  default: (await loadChunk(() => import('./advanced-fields.tsx'))).AdvancedFields,
}));

/** The advanced settings. Their code loads when they are shown: on request, or when one is set or invalid. */
export function AdvancedSettings(props: AdvancedFieldsProps) {
  const { draft, problems, toolProblems } = props;
  const [isShown, setShown] = useState(
    draft.clientTools.length + draft.overridable.length > 0 ||
      draft.outputSchema !== '' ||
      isContextSet(draft),
  );
  const id = useId();
  const isInvalid =
    toolProblems.hasRowProblems ||
    ['/output_schema', '/overridable', '/context'].some(
      (pointer) => problemAt(problems, pointer) !== undefined,
    );
  const isOpen = isShown || isInvalid;
  return (
    <>
      <FormSection
        title="Advanced settings"
        lead="Client tools, structured output, overrides and long conversations."
      >
        <div>
          <Button
            aria-expanded={isOpen}
            aria-controls={isOpen ? id : undefined}
            onClick={() => setShown(!isOpen)}
          >
            {isOpen ? <ChevronDown aria-hidden /> : <ChevronRight aria-hidden />}
            {isOpen ? 'Hide advanced settings' : 'Show advanced settings'}
          </Button>
        </div>
      </FormSection>
      {isOpen && (
        <div id={id} className="border-t border-line">
          <Suspense fallback={<Skeleton lines={6} />}>
            <AdvancedFields {...props} />
          </Suspense>
        </div>
      )}
    </>
  );
}
