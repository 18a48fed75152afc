import { Page } from '../../ui/page.tsx';

export function AssistantPage() {
  return <Page title="Assistant">{null}</Page>;
}
