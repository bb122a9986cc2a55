package telemetry

import (
	"go.opentelemetry.io/otel/attribute"
)

// Attributes of spans.
const (
	TenantKey         = attribute.Key("toolcrib.tenant_id")
	RunKey            = attribute.Key("toolcrib.run_id")
	TurnKey           = attribute.Key("toolcrib.turn")
	PositionKey       = attribute.Key("toolcrib.position")
	CallKey           = attribute.Key("toolcrib.call_id")
	ToolKey           = attribute.Key("toolcrib.tool") // slug@version
	ImplementationKey = attribute.Key("toolcrib.implementation")
	AttemptKey        = attribute.Key("toolcrib.attempt")
	EffectKey         = attribute.Key("toolcrib.effect_id")
	StatusKey         = attribute.Key("toolcrib.status")
	KindKey           = attribute.Key("toolcrib.kind")
	ProviderKey       = attribute.Key("toolcrib.model_provider")
)

// Labels of metrics.
const (
	implementationLabel = attribute.Key("implementation")
	statusLabel         = attribute.Key("status")
	kindLabel           = attribute.Key("kind")
	outcomeLabel        = attribute.Key("outcome")
	providerLabel       = attribute.Key("provider")
	directionLabel      = attribute.Key("direction")
	phaseLabel          = attribute.Key("phase")
	moveLabel           = attribute.Key("move")
	reasonLabel         = attribute.Key("reason")
	declaredLabel       = attribute.Key("declared")
	causeLabel          = attribute.Key("cause")
	languageLabel       = attribute.Key("language")
)
