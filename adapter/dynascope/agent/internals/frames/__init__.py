"""Frames being traced: `InstructionTranslator`, instructions, value stacks, resume functions."""
