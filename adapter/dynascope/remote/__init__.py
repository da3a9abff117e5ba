"""Reach programs that listen on other machines: by ssh, and in pods of Kubernetes."""
