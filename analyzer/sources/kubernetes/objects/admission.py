"""Webhooks that are asked before an object is stored. Their certificates are not kept."""

from msgspec import Struct

from analyzer.sources.kubernetes.objects.metadata import LabelSelector, Metadata


class WebhookService(Struct, frozen=True, kw_only=True, gc=False):
    """The Service that answers."""

    namespace: str = ""
    name: str = ""


class WebhookClient(Struct, frozen=True, kw_only=True):
    """Where the webhook is; `service` None: outside the cluster."""

    service: WebhookService | None = None


class Webhook(Struct, frozen=True, kw_only=True, rename="camel"):
    """One webhook: where it is, what becomes of a request if it does not answer, and whose objects it sees."""

    name: str = ""
    client_config: WebhookClient = WebhookClient()
    failure_policy: str = "Fail"
    namespace_selector: LabelSelector | None = None


class ValidatingWebhookConfiguration(
    Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="ValidatingWebhookConfiguration"
):
    """Webhooks that may refuse an object."""

    api_version: str = "admissionregistration.k8s.io/v1"
    metadata: Metadata = Metadata()
    webhooks: tuple[Webhook, ...] = ()


class MutatingWebhookConfiguration(
    Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", tag="MutatingWebhookConfiguration"
):
    """Webhooks that may change an object."""

    api_version: str = "admissionregistration.k8s.io/v1"
    metadata: Metadata = Metadata()
    webhooks: tuple[Webhook, ...] = ()


__all__ = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "Webhook"]
