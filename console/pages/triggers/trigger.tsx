import { Page } from '../../ui/page.tsx';

export function TriggerPage() {
  return <Page title="Trigger">{null}</Page>;
}
