"""What the settings leave to the model and to the machine that a run begins on."""

from mcprl.config import Config
from mcprl.engines import placement
from mcprl.errors import ConfigError
from mcprl.models import unsloth
from mcprl.models.defaults import with_defaults
from mcprl.models.load import find_device
from mcprl.runs.starting import as_started, with_start


def resolve(config: Config) -> Config:
    """The configuration with what suits its model, and with this machine's choices for `auto`, written out, so that a
    run resumes alike on another. Raises `ModelError`, and `ConfigError` for a control that could not show anything or a
    start that is not there (`with_start`)."""
    config = with_start(with_defaults(as_started(config)))
    device, model, training = find_device(config.model.device), config.model, config.training
    model = model.model_copy(update={"loader": "unsloth" if unsloth.wanted(model, device) else "transformers"})
    if training.pipeline == "auto":
        apart = placement(config, device) == "apart" and not config.engine.sleep
        training = training.model_copy(update={"pipeline": "on" if apart else "off"})
    if training.recipe == "sft":
        training = training.model_copy(update={"steps": 0})
    if training.recipe == "rl":
        training = training.model_copy(update={"warm_start_steps": 0})
    if config.is_control and not training.steps:
        raise ConfigError("a control needs steps of RL, and this run takes none; give it --recipe sft+rl and --steps")
    return config.model_copy(update={"model": model, "training": training})
